import ArborExchange
import ArborLocks
import ArborModel
import Dispatch
import Foundation

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// Downloads documents with a session of Foundation.
///
/// The session uses its own queue for callbacks, so a waiting thread never blocks it. No cookies,
/// cache or credentials are kept between documents.
final class SeedDownloader: SeedDownloading {
  private let options: SeedOptions
  /// The maximum time for a document in seconds, in the range supported by the session.
  private let time: TimeInterval
  private let delegate: SeedDownloadDelegate
  private let session: URLSession

  init(_ options: SeedOptions) {
    self.options = options
    time = max(0.001, min(options.maximumTime, 1e7))
    delegate = SeedDownloadDelegate(options)
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    // Longer than the downloader's own timeout, which is more precise than whole seconds.
    configuration.timeoutIntervalForRequest = time + 2
    configuration.timeoutIntervalForResource = time + 2
    let queue = OperationQueue()
    queue.maxConcurrentOperationCount = 1
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
  }

  deinit { Self.aside { [session] in session.invalidateAndCancel() } }

  func fetch(
    _ url: URL, limit: Int, work: WorkLimit?
  ) throws(SeedDownloadProblem) -> SeedDownload {
    var request = URLRequest(url: url)
    request.setValue("application/json, */*;q=0.1", forHTTPHeaderField: "Accept")
    let task = session.dataTask(with: request)
    let ended = delegate.begin(
      task.taskIdentifier, url, limit: min(limit, options.maximumRemoteSize))
    task.resume()
    let (isInTime, interruption) = wait(for: ended, work)
    // Everything from here on is ignored, including the end of the task.
    let transfer = delegate.end()
    if !isInTime { Self.aside { task.cancel() } }
    if let interruption { throw .interrupted(interruption) }
    if let problem = transfer.problem { throw problem }
    guard isInTime else { throw .slow(seconds: time) }
    guard let response = transfer.response else { throw .empty }
    if let expected = transfer.expected, transfer.data.count < expected {
      throw .truncated(expected: expected, received: transfer.data.count)
    }
    return SeedDownload(
      data: transfer.data, url: response.url ?? transfer.url,
      isLines: SeedContent.isLines(response.mimeType))
  }

  /// Waits for the end of a transfer, at most for the allowed time, checking the caller's limits in
  /// the meantime.
  private func wait(
    for ended: DispatchSemaphore, _ work: WorkLimit?
  ) -> (isInTime: Bool, Interruption?) {
    let end = DispatchTime.now() + time
    while true {
      if ended.wait(timeout: min(.now() + .milliseconds(10), end)) == .success {
        return (true, nil)
      }
      if DispatchTime.now() >= end { return (false, nil) }
      do throws(Interruption) { try work?.checkNow() } catch { return (false, error) }
    }
  }

  /// Runs `body`, which stops a transfer, on another thread. Cancelling waits until the session has
  /// read all buffered data, which could take long with a fast server.
  static func aside(_ body: @escaping @Sendable () -> Void) {
    DispatchQueue.global().async(execute: body)
  }
}

/// Receives the session's callbacks for the current task.
final class SeedDownloadDelegate: NSObject, URLSessionDataDelegate, Sendable {
  /// The transfer of a document.
  struct Transfer: Sendable {
    let task: Int
    let url: URL
    let limit: Int
    let ended: DispatchSemaphore
    var visited: Set<String>
    var response: URLResponse?
    /// The size announced by the server, if the received data should have that size.
    var expected: Int?
    var data = Data()
    var problem: SeedDownloadProblem?
  }

  private let options: SeedOptions
  private let present = Lock<Transfer?>(nil)

  init(_ options: SeedOptions) { self.options = options }

  /// Begins a transfer. Returns a semaphore that is signaled when it ends.
  func begin(_ task: Int, _ url: URL, limit: Int) -> DispatchSemaphore {
    let ended = DispatchSemaphore(value: 0)
    present.withLock {
      $0 = Transfer(
        task: task, url: url, limit: limit, ended: ended, visited: [SeedAddress.identity(of: url)])
    }
    return ended
  }

  /// Ends the current transfer. Data received later is ignored.
  func end() -> Transfer {
    present.withLock { transfer in
      defer { transfer = nil }
      guard let transfer else { stopProgram("A transfer ended before it began.") }
      return transfer
    }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask,
    willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
    completionHandler: @escaping @Sendable (URLRequest?) -> Void
  ) {
    let isFollowed = change(task) { transfer -> Bool in
      guard let target = request.url else { return false }
      if let problem = redirectionProblem(&transfer, from: response.url, to: target) {
        transfer.problem = problem
        return false
      }
      return true
    }
    completionHandler(isFollowed == true ? request : nil)
    if isFollowed != true { stop(task) }
  }

  private func redirectionProblem(
    _ transfer: inout Transfer, from origin: URL?, to target: URL
  ) -> SeedDownloadProblem? {
    let origin = origin ?? transfer.url
    if let problem = SeedAddress.problem(ofRedirectFrom: origin, to: target, options.remote) {
      return .redirected(problem)
    }
    guard transfer.visited.insert(SeedAddress.identity(of: target)).inserted else {
      return .redirectLoop
    }
    guard transfer.visited.count - 1 <= options.maximumRedirects else {
      return .redirects(limit: options.maximumRedirects)
    }
    return nil
  }

  func urlSession(
    _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
    completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
  ) {
    let isWanted = change(dataTask) { transfer -> Bool in
      transfer.response = response
      if transfer.problem == nil { transfer.problem = problem(of: response, &transfer) }
      return transfer.problem == nil
    }
    completionHandler(isWanted == true ? .allow : .cancel)
    if isWanted != true { stop(dataTask) }
  }

  private func problem(
    of response: URLResponse, _ transfer: inout Transfer
  ) -> SeedDownloadProblem? {
    guard let response = response as? HTTPURLResponse else { return .empty }
    guard response.statusCode == 200 else { return .status(response.statusCode) }
    guard SeedContent.isAllowed(response.mimeType) else { return .content(response.mimeType ?? "") }
    let isPacked = response.value(forHTTPHeaderField: "Content-Encoding") != nil
    if !isPacked, let length = response.value(forHTTPHeaderField: "Content-Length") {
      guard let expected = Int(length), expected <= transfer.limit else {
        return .tooLarge(limit: transfer.limit)
      }
      transfer.expected = expected
    }
    return nil
  }

  func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
    let isWanted = change(dataTask) { transfer -> Bool in
      guard transfer.problem == nil else { return true }
      guard data.count <= transfer.limit - transfer.data.count else {
        transfer.problem = .tooLarge(limit: transfer.limit)
        transfer.data = Data()
        return false
      }
      transfer.data.append(data)
      return true
    }
    if isWanted == false { stop(dataTask) }
  }

  func urlSession(
    _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
  ) {
    change(task) { transfer in
      if transfer.problem == nil, let error { transfer.problem = .failed(.init(error), error) }
      transfer.ended.signal()
    }
  }

  /// Ends a task immediately, without waiting for the session. Data it still reads is discarded.
  private func stop(_ task: URLSessionTask) {
    change(task) { $0.ended.signal() }
    SeedDownloader.aside { task.cancel() }
  }

  /// Modifies the current transfer. Does nothing and returns `nil` for a task that has already
  /// ended.
  @discardableResult
  private func change<R: Sendable>(
    _ task: URLSessionTask, _ body: (inout Transfer) -> R
  ) -> R? {
    present.withLock { present in
      guard var transfer = present, transfer.task == task.taskIdentifier else { return nil }
      // Avoids a copy of the data on append.
      present = nil
      defer { present = transfer }
      return body(&transfer)
    }
  }
}

extension SeedDownloadProblem.Failure {
  fileprivate init(_ error: any Error) {
    self =
      switch (error as? URLError)?.code {
      case .timedOut: .timedOut
      case .cannotFindHost, .dnsLookupFailed: .unknownHost
      case .cannotConnectToHost, .notConnectedToInternet: .unreachable
      case .networkConnectionLost: .interrupted
      default: .other
      }
  }
}
