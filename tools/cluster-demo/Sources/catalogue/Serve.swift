import ArborData
import ArborPostgres
import ArborService
import ArgumentParser
import Foundation
import Hummingbird
import Logging

/// Serves the catalog over HTTP from a local store that shares a log with other processes.
struct Serve: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Serves the catalog until it receives SIGTERM.")

  @Option(help: "The connection string of libpq, with all servers.")
  var log: String

  @Option(help: "The store's file.")
  var file: String

  @Option(help: "The port on the loopback interface.")
  var port: Int

  @Option(help: "The process's name in its log.")
  var name: String

  func run() async throws {
    let catalogue = try ArborService(
      "catalogue", model: CatalogueStore.model, at: .path(file),
      following: PostgresLog(log, store: "catalogue"))
    let router = Router()
    router.add(middleware: StoreErrors())
    Self.addRoutes(CatalogueStore(store: catalogue.store), to: router)
    var logger = Logger(label: name)
    logger.logLevel = .error
    let application = Application(
      router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)),
      services: [catalogue], logger: logger)
    try await application.runService(gracefulShutdownSignals: [.sigterm])
  }

  private static func addRoutes(
    _ catalogue: CatalogueStore, to router: Router<BasicRequestContext>
  ) {
    router.get("products") { _, _ in try await catalogue.products() }
    router.get("products/:code") { _, context -> ProductItem in
      let code = try context.parameters.require("code")
      guard let item = try await catalogue.product(code) else { throw HTTPError(.notFound) }
      return item
    }
    router.post("products") { request, context -> EditedResponse<ProductItem> in
      let item = try await request.decode(as: ProductItem.self, context: context)
      try await catalogue.insert(item)
      return EditedResponse(status: .created, response: item)
    }
    router.put("products/:code") { request, context -> ProductItem in
      let code = try context.parameters.require("code")
      let change = try await request.decode(as: ProductChange.self, context: context)
      guard let item = try await catalogue.change(code, change) else { throw HTTPError(.notFound) }
      return item
    }
    router.post("orders") { request, context -> EditedResponse<OrderItem> in
      let item = try await request.decode(as: OrderItem.self, context: context)
      switch try await catalogue.order(item) {
      case .ordered: return EditedResponse(status: .created, response: item)
      case .unknownProduct: throw HTTPError(.notFound, message: "The product does not exist.")
      case .outOfStock: throw HTTPError(.conflict, message: "The product is out of stock.")
      }
    }
    router.get("state") { _, _ in try await catalogue.state() }
    router.get("health") { _, _ in catalogue.health }
  }
}

/// Maps errors of the store to status codes that tell clients how to react.
struct StoreErrors<Context: RequestContext>: RouterMiddleware {
  func handle(
    _ request: Request, context: Context, next: (Request, Context) async throws -> Response
  ) async throws -> Response {
    do {
      return try await next(request, context)
    } catch let error as ArborError {
      // Only `outcomeUnknown` leaves open whether the commit was made. It wasn't for any other
      // error.
      let status: HTTPResponse.Status =
        switch error.code {
        case .outcomeUnknown: .gatewayTimeout
        case .logUnavailable, .closed, .cancelled, .deadlineExceeded: .serviceUnavailable
        case .conflict, .notUnique: .conflict
        case .validation, .typeMismatch: .unprocessableContent
        default: .internalServerError
        }
      throw HTTPError(status, message: "\(error.code): \(error.message)")
    }
  }
}
