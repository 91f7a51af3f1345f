package import ArborFoundation
internal import ArborLocks
package import ArborModel

/// Downloads the remote documents of a seed, one after another, while the caller waits.
package protocol SeedDownloading {
  /// Downloads a document.
  ///
  /// - Parameters:
  ///   - limit: The number of bytes left for all documents together.
  ///   - work: The limits that can interrupt the wait, or `nil`.
  func fetch(
    _ url: URL, limit: Int, work: WorkLimit?
  ) throws(SeedDownloadProblem) -> SeedDownload
}

/// A downloaded document.
package struct SeedDownload {
  package let data: Data
  /// The final URL after all redirects.
  package let url: URL
  /// Whether the server reports that the document has one document per line.
  package let isLines: Bool

  package init(data: Data, url: URL, isLines: Bool) {
    self.data = data
    self.url = url
    self.isLines = isLines
  }
}

/// The network access of seeds. It requires all of Foundation, and is provided by `ArborLocale`.
package enum SeedNetwork {
  package typealias Opening = @Sendable (SeedOptions) -> any SeedDownloading

  private static let provided = Lock<Opening?>(nil)

  /// Sets the function that creates downloaders. Called before the first use of the library.
  package static func provide(_ opening: @escaping Opening) {
    provided.withLock { $0 = opening }
  }

  /// Returns a downloader.
  ///
  /// - Throws: ``ArborError`` `unsupported` if the program doesn't include one.
  static func downloader(_ options: SeedOptions) throws(ArborError) -> any SeedDownloading {
    guard let open = provided.withLock({ $0 }) else {
      throw ArborError(
        .unsupported,
        "ArborCore doesn't support seeds from servers. Use the ArborData product instead.")
    }
    return open(options)
  }
}

/// The content types accepted from servers.
package enum SeedContent {
  /// Returns whether a media type may contain JSON. Servers that don't know the type send plain
  /// text or bytes.
  package static func isAllowed(_ mimeType: String?) -> Bool {
    guard let mimeType = mimeType?.lowercased() else { return true }
    return ["application/json", "text/json", "text/plain", "application/octet-stream"]
      .contains(mimeType) || mimeType.hasSuffix("+json") || isLines(mimeType)
  }

  /// Returns whether a media type has one document per line.
  package static func isLines(_ mimeType: String?) -> Bool {
    ["application/x-ndjson", "application/ndjson", "application/jsonl", "application/jsonlines"]
      .contains(mimeType?.lowercased() ?? "")
  }
}

/// The reason why a document could not be downloaded.
package enum SeedDownloadProblem: Error {
  case status(Int)
  case content(String)
  case tooLarge(limit: Int)
  case truncated(expected: Int, received: Int)
  case slow(seconds: TimeInterval)
  case redirects(limit: Int)
  case redirectLoop
  case redirected(SeedAddress.Problem)
  case empty
  case failed(Failure, any Error)
  /// The waiting task was interrupted.
  case interrupted(Interruption)

  package enum Failure {
    case timedOut, unknownHost, unreachable, interrupted, other
  }

  var code: ArborError.Code {
    switch self {
    case .tooLarge, .slow, .redirects: .limitExceeded
    case .content: .invalidDocument
    case .redirected: .notAllowed
    case .interrupted(let interruption): ArborError(interruption).code
    case .failed(.timedOut, _): .limitExceeded
    default: .fileUnreadable
    }
  }

  /// Returns a description of the error and its remedy.
  func message(of name: String) -> String {
    switch self {
    case .status(let status):
      "The server returned status \(status) instead of 200 for \(name). Check the URL."
    case .content(let type):
      "\(name) has the type \(type), which is not JSON. Correct the URL, or make the server send "
        + "application/json."
    case .tooLarge(let limit):
      "\(name) exceeds the remaining \(limit) bytes. Split the document, or raise "
        + "maximumRemoteSize or maximumSize."
    case .truncated(let expected, let received):
      "\(name) ended after \(received) of \(expected) bytes. Try again, or check the server."
    case .slow(let seconds):
      "\(name) did not arrive within \(seconds) seconds. Try again, or raise maximumTime."
    case .redirects(let limit):
      "\(name) was redirected more than \(limit) times. Link the final URL, or raise "
        + "maximumRedirects."
    case .redirectLoop: "\(name) redirects in a loop. Correct the URL."
    case .redirected(let problem):
      "\(name) redirects to a URL that is not allowed. " + problem.message
    case .empty: "The server returned no response for \(name). Check the URL."
    case .failed(let failure, _): Self.message(of: name, failure)
    case .interrupted(let interruption): ArborError(interruption).message
    }
  }

  private static func message(of name: String, _ failure: Failure) -> String {
    switch failure {
    case .timedOut: "\(name) did not arrive in time. Try again, or raise maximumTime."
    case .unknownHost: "The host in \(name) was not found. Check its name."
    case .unreachable:
      "The host of \(name) cannot be reached. Check that its server is running."
    case .interrupted:
      "The connection was closed before all of \(name) had arrived. Try again."
    case .other: "\(name) cannot be fetched. See the underlying error."
    }
  }

  var underlying: (any Error)? {
    if case .failed(_, let error) = self { error } else { nil }
  }
}
