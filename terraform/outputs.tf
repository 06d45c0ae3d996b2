locals {
  ids       = merge(module.near.instance_ids, local.far ? module.far[0].instance_ids : {})
  addresses = merge(module.near.public_addresses, local.far ? module.far[0].public_addresses : {})
  bucket    = var.results_bucket ? "s3://${aws_s3_bucket.results[0].bucket}/${var.name}" : null
  key       = "-i YOUR_KEY"

  # How to say something to a machine, with the key or without one. No command has a double quote in it: 'terraform output'
  # prints those with a backslash before them, and what it prints is to be pasted.
  region = { for machine in keys(local.ids) : machine => local.far && machine == "server" ? var.far_region : var.region }
  ssm    = { for machine, id in local.ids : machine => "aws ssm start-session --region ${local.region[machine]} --target ${id}" }
  ssh    = { for machine, address in local.addresses : machine => "ssh ${local.key} ubuntu@${address}" }
  shell  = var.ssh == null ? local.ssm : local.ssh
  before = { for machine, shell in local.shell : machine => var.ssh == null ? "${shell} --document-name AWS-StartNonInteractiveCommand --parameters 'command=sudo " : "${shell} 'sudo " }
  run    = var.client_count == 1 ? "pqcbench-run start" : "pqcbench-run shard START_AT --rate 300 --duration 5m"
}

output "machines" {
  description = "Instance ids by machine."
  value       = local.ids
}

output "server" {
  description = "What the clients measure: ports 443 to 447 of it."
  value       = local.server_address
}

output "commands" {
  description = "What to do, in this order."
  value = {
    ready   = { for machine, before in local.before : machine => "${before}pqcbench-run status'" }
    shell   = local.shell
    run     = { for machine, before in local.before : machine => "${before}${local.run}'" if machine != "server" }
    fetch   = local.bucket != null ? ["aws s3 sync ${local.bucket} results"] : [for machine, address in local.addresses : "mkdir -p results/${machine} && rsync -a -e 'ssh ${local.key}' ubuntu@${address}:/var/lib/pqcbench/results/ results/${machine}/" if machine != "server"]
    report  = "../analysis/bin/loadgen-report --format html --out report.html ${var.client_count == 1 ? "results/client-0/${local.experiment}" : "results/client-*/shards-START_AT"}"
    destroy = "terraform destroy"

    # Before it, if the bucket's results are to go too. Of the bucket alone: anything else that this applies may have ended
    # itself, would be made again, and cost money.
    delete_results = local.bucket != null ? "terraform apply -target=aws_s3_bucket.results -var results_bucket_destroy=true" : null
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
