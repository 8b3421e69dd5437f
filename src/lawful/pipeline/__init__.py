"""Many documents: records to decodings, in this process or in workers."""
