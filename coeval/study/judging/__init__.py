"""From a scrutinised study to a judge: split and seal, fit on the dev part, certify on the other."""
