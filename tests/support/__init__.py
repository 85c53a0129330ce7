"""What tests share: servers, stand-ins, worlds."""
