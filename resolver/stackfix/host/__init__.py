"""What a machine is: its cards, driver, kernel and shared memory."""
