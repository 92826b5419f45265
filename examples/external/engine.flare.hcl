# The engine whose driver the unit or the Deployment beside this file runs.
engine "prod" {
  type             = "external"
  runtime_location = "s3://lake-control/prod"
  log_format       = "json"
  listen           = "127.0.0.1:9188" # "0.0.0.0:9188" in a pod: probes and Prometheus come from outside of it
  liveness_file    = "/run/flareiac/alive"
}
