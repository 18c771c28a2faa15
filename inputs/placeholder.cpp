namespace trainfront {}
