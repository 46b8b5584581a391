"""HTTP as the operator's network allows it: proxies, certificates, and words for what goes wrong."""
