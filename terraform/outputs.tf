locals {
  ids       = merge(module.near.instance_ids, local.far ? module.far[0].instance_ids : {})
  addresses = merge(module.near.public_addresses, local.far ? module.far[0].public_addresses : {})
  bucket    = var.results_bucket ? "s3://${aws_s3_bucket.results[0].bucket}/${var.name}" : null
  key       = "-i YOUR_KEY"

  # How to say something to a machine, with the key or without one.
  on = {
    for machine, id in local.ids : machine => var.ssh == null ? {
      shell  = "aws ssm start-session --region ${local.far && machine == "server" ? var.far_region : var.region} --target ${id}"
      before = "aws ssm start-session --region ${local.far && machine == "server" ? var.far_region : var.region} --target ${id} --document-name AWS-StartNonInteractiveCommand --parameters '{\"command\":[\"sudo "
      after  = "\"]}'"
      } : {
      shell  = "ssh ${local.key} ubuntu@${local.addresses[machine]}"
      before = "ssh ${local.key} ubuntu@${local.addresses[machine]} 'sudo "
      after  = "'"
    }
  }
}

output "machines" {
  description = "Instance ids by machine."
  value       = local.ids
}

output "server" {
  description = "What the clients measure: ports 443 to 446 of it."
  value       = local.server_address
}

output "commands" {
  description = "What to do, in this order."
  value = {
    ready   = { for machine, on in local.on : machine => "${on.before}pqcbench-run status${on.after}" }
    shell   = { for machine, on in local.on : machine => on.shell }
    run     = var.client_count == 1 ? { client-0 = "${local.on["client-0"].before}pqcbench-run start${local.on["client-0"].after}" } : { for machine, on in local.on : machine => "${on.before}pqcbench-run shard START_AT --rate 300 --duration 5m${on.after}" if machine != "server" }
    fetch   = local.bucket != null ? ["aws s3 sync ${local.bucket} results"] : [for machine, address in local.addresses : "rsync -a -e 'ssh ${local.key}' ubuntu@${address}:/var/lib/pqcbench/results/ results/${machine}/" if machine != "server"]
    destroy = "terraform destroy"
  }

  precondition {
    condition     = var.results_bucket || var.ssh != null
    error_message = "without ssh and without results_bucket there is no way to fetch a result: give ssh, or leave results_bucket=true"
  }
}

output "cost_at_most_usd" {
  description = "All machines for max_hours at var.price, which is not what spot instances cost, and without traffic and S3."
  value       = format("%.2f", (1 + var.client_count) * var.max_hours * (var.price.instance_hour + var.price.address_hour + var.volume_gb * var.price.volume_gb_month / 730))
}
