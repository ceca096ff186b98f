"""What a store gives to other programs: files in formats that are not ours."""
