"""What a judge says of two belief tables: how it is read and put beside the rows that it was given."""
