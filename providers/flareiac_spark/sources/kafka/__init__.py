"""Records of Kafka topics."""
