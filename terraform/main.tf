locals {
  far = var.far_region != null

  # Fixed addresses: what a client is told does not have to wait for the server.
  near_cidr      = "10.77.0.0/24"
  far_cidr       = "10.78.0.0/24"
  server_address = cidrhost(local.far ? local.far_cidr : local.near_cidr, 10)

  server = {
    server = {
      address       = local.server_address
      instance_type = var.server_type
      profile       = aws_iam_instance_profile.machine["server"].name
      user_data     = local.user_data["server"]
    }
  }
  clients = {
    for i in range(var.client_count) : "client-${i}" => {
      address       = cidrhost(local.near_cidr, 20 + i)
      instance_type = var.client_type
      profile       = aws_iam_instance_profile.machine["client"].name
      user_data     = local.user_data["client-${i}"]
    }
  }

  experiment = regex("(?m)^experiment: *([A-Za-z0-9_-]+)", file("${path.module}/../${var.experiment_file}"))[0]

  # What machine/*.sh read. No value has a sign that means something to a shell: the variables' validations see to that.
  environment = {
    PQC_DEB_SHA256      = try(var.deb.sha256, "")
    PQC_DEB_URL         = try(var.deb.url, "")
    PQC_EXPERIMENT      = local.experiment
    PQC_GIT_REF         = var.source_code.git_ref
    PQC_GIT_URL         = var.source_code.git_url
    PQC_MAX_HOURS       = var.max_hours
    PQC_NAME            = var.name
    PQC_NETEM_RTT_MS    = try(var.netem.rtt_ms, "")
    PQC_NETEM_LOSS      = try(var.netem.loss, "")
    PQC_OPENSSL_SHA256  = try(var.openssl.sha256, "")
    PQC_OPENSSL_VERSION = try(var.openssl.version, "")
    PQC_RESULTS         = var.results_bucket ? ":s3,provider=AWS,env_auth=true,no_check_bucket=true,region=${var.region}:${aws_s3_bucket.results[0].bucket}" : ""
    PQC_SERVER          = local.server_address
    PQC_SHARDS          = var.client_count
    PQC_SPOT            = var.spot
  }
  roles = merge({ server = "server" }, { for i in range(var.client_count) : "client-${i}" => "client" })
  user_data = {
    for machine, role in local.roles : machine => templatefile("${path.module}/machine/user-data.yaml.tftpl", {
      environment = base64encode(join("", [
        for key, value in merge(local.environment, { PQC_MACHINE = machine, PQC_ROLE = role }) : "${key}=${value}\n"
      ]))
      experiment         = filebase64("${path.module}/../${var.experiment_file}")
      install            = filebase64("${path.module}/machine/install.sh")
      run                = filebase64("${path.module}/machine/run.sh")
      spot               = filebase64("${path.module}/machine/spot.sh")
      experiment_service = filebase64("${path.module}/machine/pqcbench-experiment.service")
      spot_service       = filebase64("${path.module}/machine/pqcbench-spot.service")
    })
  }
}

module "near" {
  source = "./site"

  name          = var.name
  cidr          = local.near_cidr
  zone          = var.availability_zone
  machines      = merge(local.far ? {} : local.server, local.clients)
  peer_cidr     = local.far ? local.far_cidr : null
  one_placement = !local.far
  spot          = var.spot
  ssh           = var.ssh
  volume_gb     = var.volume_gb
}

module "far" {
  source    = "./site"
  count     = local.far ? 1 : 0
  providers = { aws = aws.far }

  name          = var.name
  cidr          = local.far_cidr
  zone          = null
  machines      = local.server
  peer_cidr     = local.near_cidr
  one_placement = false
  spot          = var.spot
  ssh           = var.ssh
  volume_gb     = var.volume_gb
}

# Between two regions the handshakes stay on private addresses, so that no port is open to the world there either.
resource "aws_vpc_peering_connection" "far" {
  count       = local.far ? 1 : 0
  vpc_id      = module.near.vpc_id
  peer_vpc_id = module.far[0].vpc_id
  peer_region = var.far_region
}

resource "aws_vpc_peering_connection_accepter" "far" {
  count                     = local.far ? 1 : 0
  provider                  = aws.far
  vpc_peering_connection_id = aws_vpc_peering_connection.far[0].id
  auto_accept               = true
}

resource "aws_route" "near_to_far" {
  count                     = local.far ? 1 : 0
  route_table_id            = module.near.route_table_id
  destination_cidr_block    = local.far_cidr
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.far[0].id
}

resource "aws_route" "far_to_near" {
  count                     = local.far ? 1 : 0
  provider                  = aws.far
  route_table_id            = module.far[0].route_table_id
  destination_cidr_block    = local.near_cidr
  vpc_peering_connection_id = aws_vpc_peering_connection_accepter.far[0].id
}
