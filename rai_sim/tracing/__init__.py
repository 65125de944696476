"""What happens inside of a replication: events, states, pulls of each arm."""
