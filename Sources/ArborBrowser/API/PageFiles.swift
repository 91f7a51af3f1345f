/// The files of the page. They are compiled in and contain no data of a store.
enum PageFiles {
  private static let files: [String: (type: String, bytes: [UInt8])] = [
    "/": (html, PackageResources.index_html),
    "/icon.svg": ("image/svg+xml", PackageResources.icon_svg),
    "/style.css": (css, PackageResources.style_css),
    "/views.css": (css, PackageResources.views_css),
    "/edit.css": (css, PackageResources.edit_css),
    "/search.css": (css, PackageResources.search_css),
    "/api.js": (script, PackageResources.api_js),
    "/app.js": (script, PackageResources.app_js),
    "/columnmenu.js": (script, PackageResources.columnmenu_js),
    "/copy.js": (script, PackageResources.copy_js),
    "/diagram.js": (script, PackageResources.diagram_js),
    "/difference.js": (script, PackageResources.difference_js),
    "/dom.js": (script, PackageResources.dom_js),
    "/edit.js": (script, PackageResources.edit_js),
    "/explain.js": (script, PackageResources.explain_js),
    "/export.js": (script, PackageResources.export_js),
    "/fields.js": (script, PackageResources.fields_js),
    "/finder.js": (script, PackageResources.finder_js),
    "/grid.js": (script, PackageResources.grid_js),
    "/head.js": (script, PackageResources.head_js),
    "/health.js": (script, PackageResources.health_js),
    "/history.js": (script, PackageResources.history_js),
    "/layout.js": (script, PackageResources.layout_js),
    "/live.js": (script, PackageResources.live_js),
    "/menu.js": (script, PackageResources.menu_js),
    "/objects.js": (script, PackageResources.objects_js),
    "/place.js": (script, PackageResources.place_js),
    "/places.js": (script, PackageResources.places_js),
    "/predicate.js": (script, PackageResources.predicate_js),
    "/queries.js": (script, PackageResources.queries_js),
    "/query.js": (script, PackageResources.query_js),
    "/review.js": (script, PackageResources.review_js),
    "/routing.js": (script, PackageResources.routing_js),
    "/schema.js": (script, PackageResources.schema_js),
    "/search.js": (script, PackageResources.search_js),
    "/settings.js": (script, PackageResources.settings_js),
    "/staged.js": (script, PackageResources.staged_js),
    "/table.js": (script, PackageResources.table_js),
    "/tables.js": (script, PackageResources.tables_js),
    "/time.js": (script, PackageResources.time_js),
    "/values.js": (script, PackageResources.values_js),
  ]

  private static let html = "text/html; charset=utf-8"
  private static let css = "text/css; charset=utf-8"
  private static let script = "text/javascript; charset=utf-8"

  /// Returns a response with the file at a request's path. Throws a refusal if it doesn't exist.
  static func answer(_ request: HTTPRequest) throws(HTTPRequest.Refusal) -> HTTPResponse {
    guard let file = files[request.path] else {
      throw HTTPRequest.Refusal(status: .notFound, reason: "Not found.")
    }
    guard request.method == "GET" else {
      throw HTTPRequest.Refusal(status: .methodNotAllowed, reason: "Files are read-only.")
    }
    return HTTPResponse(contentType: file.type, body: file.bytes)
  }
}
