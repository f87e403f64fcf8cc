//! Signatures made by botocore.
