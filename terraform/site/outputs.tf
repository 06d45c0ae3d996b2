output "vpc_id" {
  value = aws_vpc.site.id
}

output "route_table_id" {
  value = aws_route_table.site.id
}

output "instance_ids" {
  value = { for machine, instance in aws_instance.machine : machine => instance.id }
}

output "public_addresses" {
  value = { for machine, instance in aws_instance.machine : machine => instance.public_ip }
}
