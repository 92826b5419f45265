"""Files of a folder as the driver reads them."""
