"""The certificate: how far a judge was found to agree with people on documents that nothing had been fitted on."""
