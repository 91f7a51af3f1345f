internal import Foundation

/// An HTTP/1.1 request, limited to the features that the page needs.
///
/// Only one request per connection and no transfer codings are supported: with a single form for
/// everything, no two parsers can disagree.
struct HTTPRequest: Sendable {
  let method: String
  /// The path with percent escapes decoded.
  let path: String
  /// The query parameters in order.
  let parameters: [(name: String, value: String)]
  /// The header fields by lowercase name. Duplicates are rejected.
  let headers: [String: String]
  var body: [UInt8] = []

  /// Returns the first non-empty parameter with the given name, or `nil` if there is none.
  func parameter(_ name: String) -> String? { parameters(name).first }

  /// Returns all non-empty parameters with the given name.
  func parameters(_ name: String) -> [String] {
    parameters.filter { $0.name == name && !$0.value.isEmpty }.map(\.value)
  }

  struct Refusal: Error, Equatable {
    let status: HTTPStatus
    let reason: String
  }

  /// Reads a request.
  ///
  /// - Parameter admit: Called with the head. If it throws, the body is not read.
  /// - Returns: The request, or `nil` if the client sent nothing.
  /// - Throws: ``Refusal`` for a request that is malformed, too large or too slow; errors
  ///   thrown by `admit`.
  static func read(
    from connection: Connection, _ limits: HTTPLimits, admit: (HTTPRequest) throws(Refusal) -> Void
  ) throws(Refusal) -> HTTPRequest? {
    let deadline = ContinuousClock.now + limits.headTime
    var bytes: [UInt8] = []
    var end: Int?
    while end == nil {
      guard bytes.count < limits.head else {
        throw Refusal(
          status: .headersTooLarge,
          reason: "The request head exceeds the limit of \(limits.head) bytes.")
      }
      let more = connection.read(atMost: limits.head - bytes.count, until: deadline)
      if more.isEmpty {
        if bytes.isEmpty { return nil }
        throw Refusal(status: .timeout, reason: "The request head did not arrive in time.")
      }
      let searched = max(0, bytes.count - 3)
      bytes += more
      end = endOfHead(bytes, from: searched)
    }
    guard let end else { return nil }
    var request = try HTTPRequest(head: bytes[..<(end - 4)], limits)
    let length = try request.bodyLength(limits)
    try admit(request)
    request.body = Array(bytes[end...])
    guard request.body.count <= length else {
      throw Refusal(status: .badRequest, reason: "The connection sent more than one request.")
    }
    let bodyDeadline = ContinuousClock.now + limits.bodyTime
    while request.body.count < length {
      let more = connection.read(atMost: length - request.body.count, until: bodyDeadline)
      if more.isEmpty {
        throw Refusal(status: .timeout, reason: "The request body did not arrive in time.")
      }
      request.body += more
    }
    return request
  }

  /// Returns the end of the empty line after the headers, or `nil` if it hasn't been received.
  private static func endOfHead(_ bytes: [UInt8], from start: Int) -> Int? {
    let mark: [UInt8] = [13, 10, 13, 10]
    guard bytes.count >= mark.count else { return nil }
    return (start...(bytes.count - mark.count)).first { bytes[$0..<($0 + 4)].elementsEqual(mark) }
      .map { $0 + mark.count }
  }

  private func bodyLength(_ limits: HTTPLimits) throws(Refusal) -> Int {
    guard headers["transfer-encoding"] == nil else {
      throw Refusal(status: .lengthRequired, reason: "A request body needs a Content-Length.")
    }
    guard let text = headers["content-length"] else { return 0 }
    guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(text) else {
      throw Refusal(status: .badRequest, reason: "The Content-Length is not a number.")
    }
    guard length <= limits.body else {
      throw Refusal(
        status: .tooLarge,
        reason: "The request body exceeds the limit of \(limits.body) bytes.")
    }
    return length
  }
}

extension HTTPRequest {
  init(head: ArraySlice<UInt8>, _ limits: HTTPLimits) throws(Refusal) {
    guard let text = String(validating: head, as: UTF8.self),
      text.unicodeScalars.allSatisfy({
        $0.value >= 32 && $0.value != 127 || "\r\n\t".unicodeScalars.contains($0)
      })
    else { throw Self.malformed("The request head is not text.") }
    let lines = text.components(separatedBy: "\r\n")
    guard
      !text.replacingOccurrences(of: "\r\n", with: "").unicodeScalars.contains(where: {
        $0 == "\r" || $0 == "\n"
      })
    else { throw Self.malformed("A line doesn't end with CR LF.") }
    guard lines.count <= limits.headerLines + 1 else {
      throw Refusal(
        status: .headersTooLarge, reason: "The request has more than \(limits.headerLines) headers."
      )
    }
    let words = lines[0].split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 3, words[1].hasPrefix("/") else {
      throw Self.malformed("The request line is malformed.")
    }
    guard words[2] == "HTTP/1.1" else {
      throw Refusal(status: .versionNotSupported, reason: "The version is not HTTP/1.1.")
    }
    method = String(words[0])
    headers = try Self.headers(lines.dropFirst())
    let parts = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    guard let path = parts[0].removingPercentEncoding else {
      throw Self.malformed("The path is malformed.")
    }
    self.path = path
    parameters = try Self.parameters(parts.count > 1 ? parts[1] : "")
  }

  private static func headers(_ lines: ArraySlice<String>) throws(Refusal) -> [String: String] {
    var headers: [String: String] = [:]
    for line in lines {
      guard let colon = line.firstIndex(of: ":") else { throw malformed("A header has no colon.") }
      let name = line[..<colon].lowercased()
      guard !name.isEmpty, name.utf8.allSatisfy(isTokenByte) else {
        throw malformed("The name of a header is malformed.")
      }
      guard headers[name] == nil else { throw malformed("The header \(name) occurs twice.") }
      headers[name] = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
    }
    return headers
  }

  private static func parameters(
    _ text: Substring
  ) throws(Refusal) -> [(name: String, value: String)] {
    var parameters: [(name: String, value: String)] = []
    for part in text.split(separator: "&") {
      let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      let value = (pair.count > 1 ? pair[1] : "").replacing("+", with: " ")
      guard let name = pair[0].removingPercentEncoding, let value = value.removingPercentEncoding
      else { throw malformed("A parameter is malformed.") }
      parameters.append((name, value))
    }
    return parameters
  }

  private static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x61...0x7A: true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  private static func malformed(_ reason: String) -> Refusal {
    Refusal(status: .badRequest, reason: reason)
  }
}
