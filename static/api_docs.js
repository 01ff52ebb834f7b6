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

// Swagger UI has its own dark style, switched by a class of the document.
const system = window.matchMedia("(prefers-color-scheme: dark)");
const root = document.documentElement;
const shade = () => {
  const dark = root.dataset.theme ? root.dataset.theme === "dark" : system.matches;
  if (root.classList.contains("dark-mode") !== dark) root.classList.toggle("dark-mode", dark);
};
shade();
system.addEventListener("change", shade);
new MutationObserver(shade).observe(root, { attributes: true, attributeFilter: ["data-theme"] });
