# One network in one zone with some machines. Nothing from outside reaches them, but ssh where it was asked for.

terraform {
  required_providers {
    aws = {
      source = "hashicorp/aws"
    }
  }
}

locals {
  types = toset([for machine in var.machines : machine.instance_type])
  zone = var.zone != null ? var.zone : sort(tolist(setintersection([
    for offered in data.aws_ec2_instance_type_offerings.zones : toset(offered.locations)
  ]...)))[0]
}

data "aws_ec2_instance_type" "type" {
  for_each      = local.types
  instance_type = each.key
}

data "aws_ec2_instance_type_offerings" "zones" {
  for_each      = local.types
  location_type = "availability-zone"

  filter {
    name   = "instance-type"
    values = [each.key]
  }
}

# 099720109477 is Canonical, the publisher of Ubuntu; its number is public.
data "aws_ami" "ubuntu" {
  for_each    = local.types
  owners      = ["099720109477"]
  most_recent = true

  filter {
    name   = "name"
    values = ["ubuntu/images/hvm-ssd-gp3/ubuntu-noble-24.04-*-server-*"]
  }

  filter {
    name   = "architecture"
    values = [contains(data.aws_ec2_instance_type.type[each.key].supported_architectures, "arm64") ? "arm64" : "x86_64"]
  }
}

resource "aws_vpc" "site" {
  cidr_block = var.cidr
  tags       = { Name = var.name }
}

# Its own would let everything in it talk to everything.
resource "aws_default_security_group" "none" {
  vpc_id = aws_vpc.site.id
}

resource "aws_subnet" "site" {
  vpc_id            = aws_vpc.site.id
  cidr_block        = var.cidr
  availability_zone = local.zone
  tags              = { Name = var.name }
}

resource "aws_internet_gateway" "site" {
  vpc_id = aws_vpc.site.id
}

resource "aws_route_table" "site" {
  vpc_id = aws_vpc.site.id
}

resource "aws_route" "out" {
  route_table_id         = aws_route_table.site.id
  destination_cidr_block = "0.0.0.0/0"
  gateway_id             = aws_internet_gateway.site.id
}

resource "aws_route_table_association" "site" {
  subnet_id      = aws_subnet.site.id
  route_table_id = aws_route_table.site.id
}

resource "aws_security_group" "machine" {
  name_prefix = "${var.name}-"
  description = "TLS between the machines of the benchmark"
  vpc_id      = aws_vpc.site.id

  lifecycle {
    create_before_destroy = true
  }
}

resource "aws_vpc_security_group_ingress_rule" "tls" {
  security_group_id            = aws_security_group.machine.id
  description                  = "The server's five listeners, inside the group"
  ip_protocol                  = "tcp"
  from_port                    = 443
  to_port                      = 447
  referenced_security_group_id = aws_security_group.machine.id
}

resource "aws_vpc_security_group_ingress_rule" "tls_from_peer" {
  count             = var.peer_cidr == null ? 0 : 1
  security_group_id = aws_security_group.machine.id
  description       = "The server's five listeners, for the clients in the other region"
  ip_protocol       = "tcp"
  from_port         = 443
  to_port           = 447
  cidr_ipv4         = var.peer_cidr
}

resource "aws_vpc_security_group_ingress_rule" "ssh" {
  count             = var.ssh == null ? 0 : 1
  security_group_id = aws_security_group.machine.id
  description       = "ssh from where the user said"
  ip_protocol       = "tcp"
  from_port         = 22
  to_port           = 22
  cidr_ipv4         = var.ssh.cidr
}

# Packages, sources, SSM and S3 are outside.
resource "aws_vpc_security_group_egress_rule" "out" {
  security_group_id = aws_security_group.machine.id
  description       = "Anything that the machines begin themselves"
  ip_protocol       = "-1"
  cidr_ipv4         = "0.0.0.0/0"
}

resource "aws_key_pair" "ssh" {
  count           = var.ssh == null ? 0 : 1
  key_name_prefix = "${var.name}-"
  public_key      = var.ssh.public_key
}

resource "aws_placement_group" "site" {
  count    = var.one_placement ? 1 : 0
  name     = "${var.name}-${substr(aws_vpc.site.id, -8, -1)}"
  strategy = "cluster"

  lifecycle {
    precondition {
      condition     = alltrue([for type in data.aws_ec2_instance_type.type : contains(type.supported_placement_strategies, "cluster")])
      error_message = "an instance type cannot be in a cluster placement group, as burstable ones cannot; take another, such as c7g.large: types=${join(" ", local.types)}"
    }
  }
}

resource "aws_instance" "machine" {
  for_each = var.machines

  ami                                  = data.aws_ami.ubuntu[each.value.instance_type].id
  instance_type                        = each.value.instance_type
  subnet_id                            = aws_subnet.site.id
  private_ip                           = each.value.address
  associate_public_ip_address          = true
  vpc_security_group_ids               = [aws_security_group.machine.id]
  iam_instance_profile                 = each.value.profile
  key_name                             = one(aws_key_pair.ssh[*].key_name)
  placement_group                      = one(aws_placement_group.site[*].name)
  instance_initiated_shutdown_behavior = "terminate"
  user_data_base64                     = base64gzip(each.value.user_data)
  user_data_replace_on_change          = true
  tags                                 = { Name = "${var.name}-${each.key}" }

  metadata_options {
    http_endpoint               = "enabled"
    http_tokens                 = "required"
    http_put_response_hop_limit = 1
  }

  root_block_device {
    volume_type           = "gp3"
    volume_size           = var.volume_gb
    encrypted             = true
    delete_on_termination = true
  }

  # A spot instance that would stop or hibernate may not be in a placement group.
  dynamic "instance_market_options" {
    for_each = var.spot ? ["spot"] : []

    content {
      market_type = instance_market_options.value

      spot_options {
        instance_interruption_behavior = "terminate"
        spot_instance_type             = "one-time"
      }
    }
  }

  lifecycle {
    # A newer image is no reason to lose a machine in the middle of an experiment.
    ignore_changes = [ami]
  }

  # Installing begins with the first boot, and needs the way out.
  depends_on = [aws_route.out, aws_route_table_association.site, aws_vpc_security_group_egress_rule.out]
}
