"""The numerical methods that theorems call. They know numbers, not populations."""
