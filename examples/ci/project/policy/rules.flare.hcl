# The rules of the team. ci/plan.sh asks those of main about every plan.
policy "lake" {
  rule "no_loss_without_consent" { use = "data_loss_without_consent" }
  rule "no_state_reset" { use = "state_reset" }
  rule "expiry" {
    use         = "table_without_expiry"
    enforcement = "advisory"
  }
}
