"""Records of Kafka topics as the driver reads and decodes them."""
