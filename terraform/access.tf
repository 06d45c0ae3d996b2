# What the machines may do in the account: be reached by SSM Session Manager, and the clients write their results.

resource "aws_iam_role" "machine" {
  for_each    = toset(["server", "client"])
  name_prefix = "${var.name}-${each.key}-"

  assume_role_policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect    = "Allow"
      Action    = "sts:AssumeRole"
      Principal = { Service = "ec2.amazonaws.com" }
    }]
  })
}

# What the agent of Session Manager needs and no more, and only where that is the way in. AmazonSSMManagedInstanceCore would
# also let a machine read the account's parameters. Actions of ssmmessages have no resources to name; an instance updates the
# information of itself alone.
resource "aws_iam_role_policy" "session_manager" {
  for_each = { for name, role in aws_iam_role.machine : name => role.id if var.ssh == null }
  name     = "session-manager"
  role     = each.value

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Effect = "Allow"
      Action = [
        "ssm:UpdateInstanceInformation",
        "ssmmessages:CreateControlChannel",
        "ssmmessages:CreateDataChannel",
        "ssmmessages:OpenControlChannel",
        "ssmmessages:OpenDataChannel",
      ]
      Resource = "*"
    }]
  })
}

resource "aws_iam_instance_profile" "machine" {
  for_each    = aws_iam_role.machine
  name_prefix = "${var.name}-${each.key}-"
  role        = each.value.name
}

resource "aws_s3_bucket" "results" {
  count         = var.results_bucket ? 1 : 0
  bucket_prefix = "${var.name}-results-"
  force_destroy = var.results_bucket_destroy
}

resource "aws_s3_bucket_public_access_block" "results" {
  count                   = var.results_bucket ? 1 : 0
  bucket                  = aws_s3_bucket.results[0].id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_server_side_encryption_configuration" "results" {
  count  = var.results_bucket ? 1 : 0
  bucket = aws_s3_bucket.results[0].id

  rule {
    apply_server_side_encryption_by_default {
      sse_algorithm = "AES256"
    }
  }
}

# The clients may write over what is there: nothing of it is lost by that.
resource "aws_s3_bucket_versioning" "results" {
  count  = var.results_bucket ? 1 : 0
  bucket = aws_s3_bucket.results[0].id

  versioning_configuration {
    status = "Enabled"
  }
}

resource "aws_s3_bucket_policy" "results" {
  count  = var.results_bucket ? 1 : 0
  bucket = aws_s3_bucket.results[0].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [{
      Sid       = "OnlyEncryptedConnections"
      Effect    = "Deny"
      Principal = "*"
      Action    = "s3:*"
      Resource  = [aws_s3_bucket.results[0].arn, "${aws_s3_bucket.results[0].arn}/*"]
      Condition = { Bool = { "aws:SecureTransport" = "false" } }
    }]
  })
}

# Reading is for going on with what a machine that is gone has begun. Nothing may be deleted.
resource "aws_iam_role_policy" "results" {
  count = var.results_bucket ? 1 : 0
  name  = "results"
  role  = aws_iam_role.machine["client"].id

  policy = jsonencode({
    Version = "2012-10-17"
    Statement = [
      {
        Effect    = "Allow"
        Action    = "s3:ListBucket"
        Resource  = aws_s3_bucket.results[0].arn
        Condition = { StringLike = { "s3:prefix" = ["${var.name}/*"] } }
      },
      {
        Effect   = "Allow"
        Action   = ["s3:GetObject", "s3:PutObject", "s3:AbortMultipartUpload"]
        Resource = "${aws_s3_bucket.results[0].arn}/${var.name}/*"
      },
    ]
  })
}
