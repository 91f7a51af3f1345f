// ArborExchange
