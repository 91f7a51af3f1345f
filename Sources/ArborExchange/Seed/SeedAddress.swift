package import ArborFoundation
import ArborModel

/// The rules for URLs of a seed: HTTP or HTTPS, without credentials, from hosts allowed by the
/// options, and never from HTTPS to HTTP.
package enum SeedAddress {
  package enum Problem: Error, Hashable {
    case malformed
    case relative
    case scheme
    case credentials
    case refused
    case foreignHost(String)
    case downgrade
  }

  /// Returns the URL of a link.
  ///
  /// - Parameters:
  ///   - text: The text of the link.
  ///   - base: The URL of the linking document, or `nil` if it is a file.
  package static func url(
    _ text: String, relativeTo base: URL?, _ remote: SeedOptions.RemoteDocuments
  ) throws(Problem) -> URL {
    guard !text.isEmpty, let given = URL(string: text, encodingInvalidCharacters: false),
      let url = URL(string: text, relativeTo: base)?.absoluteURL
    else { throw .malformed }
    guard base != nil || given.scheme != nil else { throw .relative }
    if let problem = problem(of: url, remote) { throw problem }
    if let base, isDowngrade(from: base, to: url) { throw .downgrade }
    return url
  }

  /// Returns the reason why a URL is rejected, or `nil` if it is allowed.
  package static func problem(of url: URL, _ remote: SeedOptions.RemoteDocuments) -> Problem? {
    guard ["http", "https"].contains(url.scheme?.lowercased()) else { return .scheme }
    guard let host = url.host()?.lowercased(), !host.isEmpty else { return .malformed }
    guard url.user() == nil, url.password() == nil else { return .credentials }
    switch remote {
    case .allowed: return nil
    case .refused: return .refused
    case .hosts(let hosts):
      return hosts.contains { $0.lowercased() == host } ? nil : .foreignHost(host)
    }
  }

  /// Returns the reason why a redirect is rejected, or `nil` if it is allowed.
  package static func problem(
    ofRedirectFrom origin: URL, to target: URL, _ remote: SeedOptions.RemoteDocuments
  ) -> Problem? {
    problem(of: target, remote) ?? (isDowngrade(from: origin, to: target) ? .downgrade : nil)
  }

  /// Returns a normalized form of a document's URL.
  package static func identity(of url: URL) -> String {
    guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else {
      return url.absoluteString
    }
    parts.fragment = nil
    parts.scheme = url.scheme?.lowercased()
    parts.host = url.host()?.lowercased()
    if parts.path.isEmpty { parts.path = "/" }
    return parts.string ?? url.absoluteString
  }

  private static func isDowngrade(from origin: URL, to target: URL) -> Bool {
    origin.scheme?.lowercased() == "https" && target.scheme?.lowercased() != "https"
  }
}

extension SeedAddress.Problem {
  /// The error code, for an error in a document or a forbidden location.
  var code: ArborError.Code {
    switch self {
    case .malformed, .relative, .scheme: .invalidPath
    case .credentials, .refused, .foreignHost, .downgrade: .notAllowed
    }
  }

  /// A description of the error and its remedy.
  package var message: String {
    switch self {
    case .malformed: "This is not a URL. Expected https://host/path."
    case .relative:
      "A seedUrl in a file must have a scheme and a host. Write the full https:// URL."
    case .scheme: "A seedUrl must use https or http. Change it, or link a file with seedFile."
    case .credentials: "A seedUrl must not contain a user name or password. Remove them."
    case .refused:
      "The options don't allow documents from the network. Link a file with seedFile, or allow the "
        + "host."
    case .foreignHost(let host):
      "The options don't allow documents from the host \(host). Allow the host, or link a document "
        + "on another host."
    case .downgrade:
      "The redirect leads from https to http, which is not protected against tampering. Use https."
    }
  }
}
