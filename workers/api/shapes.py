"""What answers carry. Of the key there is only the name of its variable."""

from __future__ import annotations

from rest_framework import serializers

from workers.api.requests import EndpointIn, Options
from workers.models import Endpoint


class EndpointOut(serializers.ModelSerializer):
    base_url = serializers.CharField()
    options = Options()

    class Meta:
        model = Endpoint
        fields = (*EndpointIn().fields, "created_at", "created_by", "tried_at")
        read_only_fields = fields
