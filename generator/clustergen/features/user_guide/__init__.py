"""Guide and job templates for users, on the nodes where they log in."""
