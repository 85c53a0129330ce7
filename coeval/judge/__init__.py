"""A judge as a thing of its own: what it learned from people, and proof of how far it may stand in for them."""
