# terraform init && terraform test: plans with the provider's schema and without an account. Nothing is made.

mock_provider "aws" {
  mock_data "aws_ec2_instance_type" {
    defaults = {
      supported_architectures        = ["arm64"]
      supported_placement_strategies = ["cluster", "partition", "spread"]
    }
  }
  mock_data "aws_ec2_instance_type_offerings" {
    defaults = {
      locations = ["us-east-1f", "us-east-1b", "us-east-1a"]
    }
  }
}

mock_provider "aws" {
  alias = "far"

  mock_data "aws_ec2_instance_type" {
    defaults = {
      supported_architectures        = ["x86_64"]
      supported_placement_strategies = ["cluster", "partition", "spread"]
    }
  }
  mock_data "aws_ec2_instance_type_offerings" {
    defaults = {
      locations = ["eu-west-1a"]
    }
  }
}

variables {
  source_code = {
    git_url = "https://git.example/pqcbench.git"
    git_ref = "0123456789abcdef0123456789abcdef01234567"
  }
}

run "by_default_a_spot_pair_in_one_zone_that_nobody_outside_can_reach" {
  assert {
    condition     = toset(keys(output.machines)) == toset(["server", "client-0"])
    error_message = "not the pair: ${join(" ", keys(output.machines))}"
  }
  assert {
    condition     = output.server == "10.77.0.10"
    error_message = "the server is elsewhere: ${output.server}"
  }
  assert {
    condition     = output.cost_at_most_usd == "0.95"
    error_message = "another cost: ${output.cost_at_most_usd}"
  }
  assert {
    condition     = length(output.commands.fetch) == 1 && startswith(output.commands.fetch[0], "aws s3 sync s3://")
    error_message = "results are not fetched from the bucket: ${join(" ", output.commands.fetch)}"
  }
  assert {
    condition     = startswith(output.commands.run["client-0"], "aws ssm start-session --region us-east-1 ")
    error_message = "no way to run: ${output.commands.run["client-0"]}"
  }
  assert {
    condition     = endswith(output.commands.run["client-0"], " --document-name AWS-StartNonInteractiveCommand --parameters 'command=sudo pqcbench-run start'")
    error_message = "not the command: ${output.commands.run["client-0"]}"
  }
  assert {
    # JSON has a backslash before a double quote that is part of a text, as 'terraform output' has.
    condition     = !strcontains(jsonencode(output.commands), "\\\"")
    error_message = "a command has a double quote: ${jsonencode(output.commands)}"
  }
  assert {
    condition     = endswith(output.commands.report, " results/client-0/part1") && output.commands.delete_results == "terraform apply -target=aws_s3_bucket.results -var results_bucket_destroy=true"
    error_message = "not the commands: ${output.commands.report} and ${output.commands.delete_results}"
  }
  assert {
    condition     = aws_s3_bucket_versioning.results[0].versioning_configuration[0].status == "Enabled"
    error_message = "what is written over is lost"
  }
  assert {
    condition     = toset(keys(aws_iam_role_policy.session_manager)) == toset(["server", "client"])
    error_message = "Session Manager, the only way in, is not allowed on both: ${join(" ", keys(aws_iam_role_policy.session_manager))}"
  }
}

run "the_user_data_is_yaml_with_what_the_machine_is_to_know" {
  assert {
    condition     = alltrue([for data in values(local.user_data) : yamldecode(data).runcmd[0][0] == "/usr/local/sbin/pqcbench-install"])
    error_message = "not the command that installs"
  }
  assert {
    condition     = alltrue([for line in ["PQC_ROLE=client", "PQC_MACHINE=client-0", "PQC_SERVER=10.77.0.10", "PQC_DEB_URL=", "PQC_EXPERIMENT=part1", "PQC_SPOT=true"] : strcontains(base64decode(yamldecode(local.user_data["client-0"]).write_files[0].content), "${line}\n")])
    error_message = "a setting is not there:\n${base64decode(yamldecode(local.user_data["client-0"]).write_files[0].content)}"
  }
  assert {
    condition     = base64decode(yamldecode(local.user_data["server"]).write_files[2].content) == file("machine/install.sh")
    error_message = "a file is not what it is in the folder"
  }
}

run "the_site_as_it_is_by_default" {
  module {
    source = "./site"
  }
  variables {
    name          = "t"
    cidr          = "10.77.0.0/24"
    zone          = null
    peer_cidr     = null
    one_placement = true
    spot          = true
    ssh           = null
    volume_gb     = 16
    machines = {
      server   = { address = "10.77.0.10", instance_type = "c7g.large", profile = "s", user_data = "#cloud-config" }
      client-0 = { address = "10.77.0.20", instance_type = "c7g.large", profile = "c", user_data = "#cloud-config" }
    }
  }
  assert {
    condition     = aws_subnet.site.availability_zone == "us-east-1a"
    error_message = "not the first zone: ${aws_subnet.site.availability_zone}"
  }
  assert {
    condition     = alltrue([for m in aws_instance.machine : m.metadata_options[0].http_tokens == "required" && m.root_block_device[0].encrypted && m.root_block_device[0].volume_type == "gp3" && m.instance_initiated_shutdown_behavior == "terminate" && m.instance_market_options[0].market_type == "spot" && m.placement_group == aws_placement_group.site[0].name])
    error_message = "a machine is not as it should be"
  }
  assert {
    condition     = aws_placement_group.site[0].strategy == "cluster"
    error_message = "no cluster placement group"
  }
  assert {
    condition     = length(aws_vpc_security_group_ingress_rule.ssh) == 0 && length(aws_vpc_security_group_ingress_rule.tls_from_peer) == 0 && aws_vpc_security_group_ingress_rule.tls.cidr_ipv4 == null
    error_message = "something is open"
  }
  assert {
    condition     = one(one([for f in data.aws_ami.ubuntu["c7g.large"].filter : f.values if f.name == "architecture"])) == "arm64"
    error_message = "no image for arm64"
  }
}

run "on_demand_x86_with_ssh" {
  module {
    source = "./site"
  }
  providers = {
    aws = aws.far
  }
  variables {
    name          = "t"
    cidr          = "10.77.0.0/24"
    zone          = "eu-west-1c"
    peer_cidr     = null
    one_placement = false
    spot          = false
    ssh           = { cidr = "203.0.113.7/32", public_key = "ssh-ed25519 AAAA me" }
    volume_gb     = 16
    machines = {
      server = { address = "10.77.0.10", instance_type = "c7i.large", profile = "s", user_data = "#cloud-config" }
    }
  }
  assert {
    condition     = aws_vpc_security_group_ingress_rule.ssh[0].cidr_ipv4 == "203.0.113.7/32" && aws_vpc_security_group_ingress_rule.ssh[0].to_port == 22
    error_message = "ssh is open to others"
  }
  assert {
    condition     = length(aws_instance.machine["server"].instance_market_options) == 0 && length(aws_placement_group.site) == 0
    error_message = "neither on-demand nor free of a placement group"
  }
  assert {
    condition     = aws_subnet.site.availability_zone == "eu-west-1c"
    error_message = "another zone than the one given"
  }
  assert {
    condition     = one(one([for f in data.aws_ami.ubuntu["c7i.large"].filter : f.values if f.name == "architecture"])) == "x86_64"
    error_message = "no image for x86-64"
  }
}

run "a_type_that_cannot_be_in_a_cluster_is_refused" {
  command = plan
  module {
    source = "./site"
  }
  override_data {
    target = data.aws_ec2_instance_type.type
    values = {
      supported_architectures        = ["arm64"]
      supported_placement_strategies = ["partition", "spread"]
    }
  }
  variables {
    name          = "t"
    cidr          = "10.77.0.0/24"
    zone          = null
    peer_cidr     = null
    one_placement = true
    spot          = true
    ssh           = null
    volume_gb     = 16
    machines = {
      server = { address = "10.77.0.10", instance_type = "t4g.large", profile = "s", user_data = "#cloud-config" }
    }
  }
  expect_failures = [aws_placement_group.site]
}

run "the_server_in_another_region_is_reached_by_private_addresses" {
  variables {
    far_region = "eu-west-1"
  }
  assert {
    condition     = output.server == "10.78.0.10" && aws_route.near_to_far[0].destination_cidr_block == "10.78.0.0/24" && aws_route.far_to_near[0].destination_cidr_block == "10.77.0.0/24"
    error_message = "no way between the regions"
  }
  assert {
    condition     = strcontains(output.commands.shell["server"], "--region eu-west-1 ") && strcontains(output.commands.shell["client-0"], "--region us-east-1 ")
    error_message = "commands for the wrong region"
  }
}

run "several_clients_run_shards" {
  variables {
    client_count = 3
  }
  assert {
    condition     = toset(keys(output.commands.run)) == toset(["client-0", "client-1", "client-2"]) && strcontains(output.commands.run["client-2"], "pqcbench-run shard START_AT")
    error_message = "not one command a client"
  }
  assert {
    condition     = strcontains(output.commands.report, " results/client-*/shards-START_AT")
    error_message = "not the report of the shards: ${output.commands.report}"
  }
  assert {
    condition     = !strcontains(jsonencode(output.commands), "\\\"")
    error_message = "a command has a double quote: ${jsonencode(output.commands)}"
  }
}

run "without_a_bucket_by_ssh" {
  variables {
    results_bucket = false
    ssh            = { cidr = "198.51.100.0/24", public_key = "ssh-ed25519 AAAA me" }
  }
  assert {
    condition     = length(output.commands.fetch) == 1 && startswith(output.commands.fetch[0], "mkdir -p results/client-0 && rsync ")
    error_message = "results are not fetched by rsync: ${join(" ", output.commands.fetch)}"
  }
  assert {
    condition     = !strcontains(jsonencode(output.commands), "\\\"")
    error_message = "a command has a double quote: ${jsonencode(output.commands)}"
  }
  assert {
    condition     = length(aws_iam_role_policy.session_manager) == 0 && output.commands.delete_results == null
    error_message = "Session Manager is allowed although ssh is the way in, or there is a bucket to delete"
  }
}

run "no_way_to_fetch_is_refused" {
  command = plan
  variables {
    results_bucket = false
  }
  expect_failures = [output.commands]
}

run "ssh_from_everywhere_is_refused" {
  command = plan
  variables {
    ssh = { cidr = "0.0.0.0/0", public_key = "ssh-ed25519 AAAA me" }
  }
  expect_failures = [var.ssh]
}

run "ssh_from_half_of_everywhere_is_refused" {
  command = plan
  variables {
    ssh = { cidr = "128.0.0.0/1", public_key = "ssh-ed25519 AAAA me" }
  }
  expect_failures = [var.ssh]
}

run "a_private_key_is_refused" {
  command = plan
  variables {
    ssh = { cidr = "203.0.113.7/32", public_key = "-----BEGIN" }
  }
  expect_failures = [var.ssh]
}

run "a_password_in_the_url_is_refused" {
  command = plan
  variables {
    source_code = { git_url = "https://user@git.example/x.git", git_ref = "main" }
  }
  expect_failures = [var.source_code]
}

run "a_package_without_its_digest_is_refused" {
  command = plan
  variables {
    deb = { url = "https://files.example/pqcbench_0.1.0_all.deb", sha256 = "" }
  }
  expect_failures = [var.deb]
}

run "an_experiment_without_a_name_is_refused" {
  command = plan
  variables {
    experiment_file = "pom.xml"
  }
  expect_failures = [var.experiment_file]
}

run "the_same_region_twice_is_refused" {
  command = plan
  variables {
    far_region = "us-east-1"
  }
  expect_failures = [var.far_region]
}
