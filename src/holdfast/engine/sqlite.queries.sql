-- settings
-- An acknowledged write survives a power cut.
pragma synchronous = full;
pragma foreign_keys = on;
-- Erased text is overwritten on disk.
pragma secure_delete = on;
pragma temp_store = memory;
pragma cache_size = -32000;
pragma mmap_size = {mapped};
