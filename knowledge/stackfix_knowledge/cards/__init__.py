"""Graphics cards, and the CUDA toolkits and drivers that serve them."""
