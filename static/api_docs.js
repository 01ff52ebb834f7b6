// Draws the API's description; session requests carry the page's CSRF token.
const place = document.getElementById("api-docs");
const token = JSON.parse(document.body.getAttribute("hx-headers"))["x-csrftoken"];

window.SwaggerUIBundle({
  url: place.dataset.schema,
  domNode: place,
  presets: [window.SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayOperationId: true,
  validatorUrl: null,
  requestInterceptor: (request) => {
    if (!["GET", "HEAD"].includes(request.method ?? "GET")) request.headers["X-CSRFToken"] = token;
    return request;
  },
});
