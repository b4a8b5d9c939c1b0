"""The numerical engines that theorems call. They know numbers, not populations."""
