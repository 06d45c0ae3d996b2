terraform {
  required_version = ">= 1.9"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.100"
    }
  }
}

provider "aws" {
  region = var.region

  default_tags {
    tags = { project = var.name }
  }
}

# Only with far_region does anything live there.
provider "aws" {
  alias  = "far"
  region = coalesce(var.far_region, var.region)

  default_tags {
    tags = { project = var.name }
  }
}
