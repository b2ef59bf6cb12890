"""What wheels carry: GPU code, releases on the default index and on PyTorch's own."""
