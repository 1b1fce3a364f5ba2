"""Options of the kernel's command line, where the boot loader reads them."""
