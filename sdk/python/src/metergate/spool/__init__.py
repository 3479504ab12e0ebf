"""Events in files, which survive the process and the power (docs: README, "The spool")."""
