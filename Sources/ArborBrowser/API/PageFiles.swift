/// The files of the page. They are compiled in and hold nothing of any store.
enum PageFiles {
  private static let files: [String: (type: String, bytes: [UInt8])] = [
    "/": ("text/html; charset=utf-8", PackageResources.index_html),
    "/style.css": ("text/css; charset=utf-8", PackageResources.style_css),
    "/app.js": ("text/javascript; charset=utf-8", PackageResources.app_js),
  ]

  /// The file of a path.
  ///
  /// - Throws: ``HTTPRequest/Refusal`` where there is none.
  static func answer(_ request: HTTPRequest) throws(HTTPRequest.Refusal) -> HTTPResponse {
    guard let file = files[request.path] else {
      throw HTTPRequest.Refusal(status: .notFound, reason: "There is nothing here.")
    }
    guard request.method == "GET" else {
      throw HTTPRequest.Refusal(status: .methodNotAllowed, reason: "Files are only read.")
    }
    return HTTPResponse(contentType: file.type, body: file.bytes)
  }
}
