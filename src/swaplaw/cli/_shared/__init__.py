"""What commands share: options, tables, JSON."""
