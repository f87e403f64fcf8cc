//! State machines that replay from internal topics: consumer groups and the catalog; pure.
