public import ArborData
public import Logging
public import Metrics
public import Tracing

extension ArborService {
  /// What a service does beside keeping its store open.
  public struct Configuration: Sendable {
    /// How long a graceful shutdown waits for bodies that run; 10 seconds by default.
    ///
    /// A service group's own bound, `maximumGracefulShutdownDuration`, is to be longer.
    public var shutdownLimit = Duration.seconds(10)
    /// Where and how often the store is backed up; nil, the default, for never.
    public var backUps: BackUps?
    /// How often the store is looked at for gauges, such as the file's size; 15 seconds by default,
    /// and 10 milliseconds at least. A look takes some hundred microseconds.
    public var sampling = Duration.seconds(15)
    /// What metrics go to; nil, the default, for what the program has set up by the time the
    /// service is made.
    public var metrics: (any MetricsFactory)?
    /// What spans go to; nil, the default, for what the program has set up by the time of each.
    public var tracer: (any Tracer)?
    /// Where the service writes what it does, with the store's name in the metadata.
    public var logger = Logger(label: "ArborData.service")

    /// The least time between two looks or two backups.
    static let shortestInterval = Duration.milliseconds(10)

    /// Makes the usual configuration.
    public init() {}
  }

  /// Where and how often a service backs its store up.
  ///
  /// A backup that fails is logged and counted, and the next one adds what is missing.
  public struct BackUps: Sendable {
    /// Where to.
    public var log: FolderLog
    /// How long to wait between two backups; 10 milliseconds at least. The first is made as the
    /// service starts.
    public var interval: Duration
    /// Whether a graceful shutdown makes a last backup, of all that bodies have committed.
    public var backsUpAtShutdown: Bool

    /// Backs up to a log.
    public init(
      to log: FolderLog, every interval: Duration = .seconds(60), atShutdown: Bool = true
    ) {
      self.log = log
      self.interval = interval
      backsUpAtShutdown = atShutdown
    }
  }
}
