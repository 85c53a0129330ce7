"""How far raters agree: alpha, kappas, intraclass correlations, and their intervals."""
