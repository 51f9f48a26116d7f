;;; Emacs 29 or later, or Emacs 28 with the package eglot: add these lines to ~/.emacs.d/init.el.

(define-derived-mode nnef-mode prog-mode "NNEF"
  (setq-local comment-start "# "
              comment-start-skip "#+ *"
              indent-tabs-mode nil
              tab-width 4))
(add-to-list 'auto-mode-alist '("\\.\\(nnef\\|quant\\)\\'" . nnef-mode))
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(nnef-mode . ("nnefc" "lsp"))))
(add-hook 'nnef-mode-hook #'eglot-ensure)
