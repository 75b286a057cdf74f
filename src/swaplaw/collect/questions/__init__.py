"""Questions of any layout, checked before anything is asked."""
