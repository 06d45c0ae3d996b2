variable "name" {
  description = "Name of everything that is made, and folder of the results. Another name is another set of machines."
  type        = string
  default     = "pqcbench"

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{1,20}$", var.name))
    error_message = "name must have 2 to 21 of a-z, 0-9 and -, and begin with a letter: name=${var.name}"
  }
}

variable "region" {
  description = "Region of the clients, and of the server without far_region."
  type        = string
  default     = "us-east-1"
}

variable "far_region" {
  description = "Region of the server, for a round trip that is real. Null: the server's is that of the clients, in one placement group. Traffic between two regions costs money."
  type        = string
  default     = null

  validation {
    condition     = var.far_region != var.region
    error_message = "far_region must be another region than region; leave it out for one region: far_region=${coalesce(var.far_region, "null")}"
  }
}

variable "availability_zone" {
  description = "Zone of the machines in region. Null: the first one by name that has all their types."
  type        = string
  default     = null
}

variable "server_type" {
  description = "Instance type of the server. The image is that of its processor: c7g for arm64, c7i and c7a for x86-64."
  type        = string
  default     = "c7g.large"
}

variable "client_type" {
  description = "Instance type of the clients."
  type        = string
  default     = "c7g.large"
}

variable "client_count" {
  description = "Client machines. One runs experiments; several run the shards of one schedule with 'pqcbench-run shard'."
  type        = number
  default     = 1

  validation {
    condition     = var.client_count >= 1 && var.client_count <= 16 && floor(var.client_count) == var.client_count
    error_message = "client_count must be a whole number from 1 to 16: client_count=${var.client_count}"
  }
}

variable "spot" {
  description = "Spot instances: cheaper, and may be taken away with a notice of 2 min. false: on-demand."
  type        = bool
  default     = true
}

variable "max_hours" {
  description = "Every machine shuts itself down, and is terminated by that, so many hours after its first boot."
  type        = number
  default     = 6

  validation {
    condition     = var.max_hours >= 1 && var.max_hours <= 72 && floor(var.max_hours) == var.max_hours
    error_message = "max_hours must be a whole number from 1 to 72: max_hours=${var.max_hours}"
  }
}

variable "ssh" {
  description = "Who may come in by ssh: network and public key. Null: nobody, and no port is open; the way in is SSM Session Manager."
  type = object({
    cidr       = string
    public_key = string
  })
  default = null

  validation {
    # A /15 is 131,072 addresses. Two halves of the world are the world too.
    condition     = var.ssh == null || try(cidrnetmask(var.ssh.cidr) != "" && tonumber(split("/", var.ssh.cidr)[1]) >= 16, false)
    error_message = "ssh.cidr must be an IPv4 network with a prefix of at least /16, such as 203.0.113.7/32; 0.0.0.0/0 is refused: ssh.cidr=${try(var.ssh.cidr, "null")}"
  }

  validation {
    condition     = var.ssh == null || can(regex("^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp256) [A-Za-z0-9+/=]+( [^\n]*)?$", trimspace(var.ssh.public_key)))
    error_message = "ssh.public_key must be one line of a public key file, such as that of ~/.ssh/id_ed25519.pub; it begins with ssh-ed25519, ssh-rsa or ecdsa-sha2-nistp256."
  }
}

variable "source_code" {
  description = "Where the machines get this project: a git URL that needs no password, and a commit, tag or branch. A commit says exactly what was measured."
  type = object({
    git_url = string
    git_ref = string
  })

  validation {
    # They stand in a file that a shell reads.
    condition     = can(regex("^https://[A-Za-z0-9._~:/%-]+$", var.source_code.git_url)) && can(regex("^[A-Za-z0-9][A-Za-z0-9._/-]*$", var.source_code.git_ref))
    error_message = "source_code must be an https:// URL without password or other signs than letters, digits and ._~:/%-, and a commit, tag or branch: git_url=${var.source_code.git_url} git_ref=${var.source_code.git_ref}"
  }
}

variable "deb" {
  description = "The package of a release for the clients: URL and SHA-256. Null: they build it from source_code, which takes some minutes."
  type = object({
    url    = string
    sha256 = string
  })
  default = null

  validation {
    condition     = var.deb == null || try(can(regex("^https://[A-Za-z0-9._~:/%-]+[.]deb$", var.deb.url)) && can(regex("^[0-9a-f]{64}$", var.deb.sha256)), false)
    error_message = "deb must be an https:// URL that ends with .deb, and the 64 hexadecimal digits of its SHA-256: url=${try(var.deb.url, "null")} sha256=${try(var.deb.sha256, "null")}"
  }
}

variable "openssl" {
  description = "OpenSSL for the server: version and SHA-256 of its source. Null: the one that deploy/nginx/build.sh has by default."
  type = object({
    version = string
    sha256  = string
  })
  default = null

  validation {
    condition     = var.openssl == null || try(can(regex("^[0-9]+[.][0-9]+[.][0-9]+$", var.openssl.version)) && can(regex("^[0-9a-f]{64}$", var.openssl.sha256)), false)
    error_message = "openssl must be a version such as 3.5.0, and the 64 hexadecimal digits of its source's SHA-256: version=${try(var.openssl.version, "null")} sha256=${try(var.openssl.sha256, "null")}"
  }
}

variable "experiment_file" {
  description = "The experiment, seen from the top of this project. Its target is replaced by the server's address, its name is the folder of its results."
  type        = string
  default     = "samples/part1.yaml"

  validation {
    # The name becomes a path.
    condition     = can(regex("(?m)^experiment: *[A-Za-z0-9_-]+ *(#.*)?$", file("${path.module}/../${var.experiment_file}")))
    error_message = "experiment_file must be a file of this project with a line 'experiment: NAME', the name of letters, digits, - and _: experiment_file=${var.experiment_file}"
  }
}

variable "netem" {
  description = "Round trip in ms and loss in percent that the server adds to what it sends (deploy/netem.sh), for a series over the RTT without a second region. Gone after a reboot."
  type = object({
    rtt_ms = number
    loss   = optional(number, 0)
  })
  default = null

  validation {
    condition     = var.netem == null || try(var.netem.rtt_ms >= 1 && var.netem.rtt_ms <= 1000 && var.netem.loss >= 0 && var.netem.loss <= 10, false)
    error_message = "netem must have a round trip of 1 to 1000 ms and a loss of 0 to 10 %: rtt_ms=${try(var.netem.rtt_ms, "null")} loss=${try(var.netem.loss, "null")}"
  }
}

variable "results_bucket" {
  description = "Make an S3 bucket, and have the clients copy their results there. Without it the results must be fetched by ssh before the machines end."
  type        = bool
  default     = true
}

variable "results_bucket_destroy" {
  description = "Let 'terraform destroy' delete the bucket with the results in it, in all their versions. false: it stops at a bucket that is not empty. Apply it to the bucket alone, see the output commands."
  type        = bool
  default     = false
}

variable "volume_gb" {
  description = "Size of each machine's encrypted gp3 disk."
  type        = number
  default     = 16

  validation {
    condition     = var.volume_gb >= 12 && var.volume_gb <= 1000
    error_message = "volume_gb must be from 12, which sources and builds need, to 1000: volume_gb=${var.volume_gb}"
  }
}

variable "price" {
  description = "For the estimate of the cost alone, in USD: an instance and a public IPv4 address an hour, a GB of gp3 a month. The defaults are on-demand list prices of us-east-1 for c7g.large, written down from memory on 2026-12-02, and neither looked up nor measured: see https://aws.amazon.com/ec2/pricing/on-demand/."
  type = object({
    instance_hour   = optional(number, 0.0725)
    address_hour    = optional(number, 0.005)
    volume_gb_month = optional(number, 0.08)
  })
  default = {}
}
