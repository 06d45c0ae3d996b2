variable "name" {
  type = string
}

variable "cidr" {
  description = "Private addresses of the network."
  type        = string
}

variable "zone" {
  description = "Null: the first one that has all types."
  type        = string
}

variable "machines" {
  description = "By name: private address, type, instance profile, cloud-init's user data."
  type = map(object({
    address       = string
    instance_type = string
    profile       = string
    user_data     = string
  }))
}

variable "peer_cidr" {
  description = "Network elsewhere that may use the server's ports too; null if there is none."
  type        = string
}

variable "one_placement" {
  description = "All machines in one cluster placement group."
  type        = bool
}

variable "spot" {
  type = bool
}

variable "ssh" {
  type = object({
    cidr       = string
    public_key = string
  })
}

variable "volume_gb" {
  type = number
}
