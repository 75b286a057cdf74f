"""Files of evidence written byte by byte, so that a seed gives the same bytes on every machine."""
