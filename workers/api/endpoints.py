"""The models that can be asked. Only the site admin."""

from django.core.exceptions import ValidationError
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiExample, OpenApiParameter, extend_schema
from rest_framework.generics import GenericAPIView
from rest_framework.permissions import BasePermission, IsAuthenticated
from rest_framework.request import Request
from rest_framework.response import Response

from core.api.bodies import read_body
from core.api.description import BODY, answers
from core.api.errors import CannotBeDone
from core.api.fields import Strict, read_query
from core.idempotency.requests import PARAMETER, made_once
from core.incoming.shapes import NothingIn
from workers.access import ONLY_SITE_ADMIN
from workers.api.shapes import EndpointIn, EndpointOut
from workers.models import Endpoint
from workers.providers import registry
from workers.services.endpoint_rules import TEXTS
from workers.services.endpoints import save_endpoint
from workers.tasks import start_try

_NAME = OpenApiParameter(
    "name",
    {"type": "string", "pattern": TEXTS["name"].pattern},
    OpenApiParameter.PATH,
    description="Name of the endpoint.",
)
_WHY = {
    403: ("You are not the site admin.", ONLY_SITE_ADMIN),
    404: ("It is not there.", "No Endpoint matches the given query."),
    422: ("Well-formed, and refused; `fields` says why.", "The request holds fields that are not as expected."),
}
_NO_BROKER = {422: ("No worker can be asked.", "No worker can be asked: the broker (BROKER_URL) cannot be reached.")}
_EXAMPLE = {
    "name": "small",
    "provider": "openai",
    "model": "small-1",
    "base_url": "http://models.example:8000/v1",
    "api_key_env": "MODELS_KEY",
    "price_input": "0.15",
    "price_output": "0.60",
}


class SiteAdmin(BasePermission):
    message = ONLY_SITE_ADMIN

    def has_permission(self, request: Request, view: object) -> bool:
        return request.user.is_superuser


class SiteView(GenericAPIView):
    permission_classes = (IsAuthenticated, SiteAdmin)


class Endpoints(SiteView):
    @extend_schema(
        operation_id="endpoints_list", tags=["models"], responses=answers(EndpointOut(many=True), 400, 403, why=_WHY)
    )
    def get(self, request: Request) -> Response:
        """List the registered models by name, with their prices and limits."""
        read_query(request, Strict)
        page = self.paginate_queryset(Endpoint.objects.order_by("name"))
        return self.get_paginated_response(EndpointOut(page, many=True).data)

    @extend_schema(
        operation_id="endpoints_register",
        tags=["models"],
        parameters=[PARAMETER],
        request={"application/json": EndpointIn},
        examples=[OpenApiExample("A model", value=_EXAMPLE, request_only=True)],
        responses=answers(EndpointOut, 403, *BODY, status=201, why=_WHY),
    )
    def post(self, request: Request) -> Response:
        """Register a model, as the page and the command `add_endpoint` do.

        What is left out is as on a new page for this provider. 422 where the name is taken, the address is not allowed
        or the options cannot work: a sentence for each field.
        """
        given = read_body(request, EndpointIn, quoted=False).given
        values = {**registry.find(given["provider"]).defaults, **given}
        try:
            name = made_once(request, lambda: save_endpoint(by=request.user.get_username(), values=values).name)
        except ValidationError as refusal:
            raise CannotBeDone(refusal.message_dict) from refusal
        return Response(EndpointOut(get_object_or_404(Endpoint, name=name)).data, status=201)


class OneEndpoint(SiteView):
    @extend_schema(
        operation_id="endpoints_read",
        tags=["models"],
        parameters=[_NAME],
        responses=answers(EndpointOut, 403, why=_WHY),
    )
    def get(self, request: Request, name: str) -> Response:
        """Read one model. Whether its key is there, only the worker knows."""
        return Response(EndpointOut(get_object_or_404(Endpoint, name=name)).data)


class TryEndpoint(SiteView):
    @extend_schema(
        operation_id="endpoints_try",
        tags=["models"],
        parameters=[_NAME],
        request={"application/json": NothingIn},
        responses=answers(EndpointOut, 403, *BODY, why=_WHY | _NO_BROKER),
    )
    def post(self, request: Request, name: str) -> Response:
        """Ask a worker to ask the model one short question, as *Try one call* on its page does. It costs a few tokens.

        The response does not wait for it: `try_state` is `waiting` then. Read the model until it is `done`, and `tried`
        has the result, or `no worker`, which it is after 90 seconds. While a try waits, another request does not begin
        a second one.
        """
        endpoint = get_object_or_404(Endpoint, name=name)
        read_body(request, NothingIn)
        if not start_try(endpoint):
            raise CannotBeDone(_NO_BROKER[422][1])
        return Response(EndpointOut(endpoint).data)
