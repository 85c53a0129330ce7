"""Agreement of raters: alpha, kappas, intraclass correlations, and their intervals."""
