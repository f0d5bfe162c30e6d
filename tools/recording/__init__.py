"""Recording the incident that the page's last lesson reads."""
